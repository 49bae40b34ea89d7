#include "launcher/mpi_allreduce.h"

#include <mpi.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <exception>

#include "comm/mpi/mpi_error.h"
#include "runtime/error.h"

namespace lockstep::launcher {
namespace {

using comm::check_mpi;

constexpr int kOwnChoice = 0;  // of Open MPI's values of the variable

/// MPI_DATATYPE_NULL where MPI has none.
MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return MPI_FLOAT;
    case DType::kF64:
      return MPI_DOUBLE;
    case DType::kI64:
      return MPI_INT64_T;
    case DType::kI32:
      return MPI_INT32_T;
    case DType::kU8:
      return MPI_UINT8_T;
    case DType::kF16:
    case DType::kBF16:
      break;
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace

void MpiAllreduce::prepare() {
  // Read once, when MPI starts; the tool interface cannot change it.
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
}

struct MpiAllreduce::Communicators {
  std::vector<MPI_Comm> all;
};

MpiAllreduce::MpiAllreduce() : communicators_(std::make_unique<Communicators>()) {
  add("default");
  add_forced();
}

MpiAllreduce::~MpiAllreduce() {
  if (std::uncaught_exceptions() > 0) return;
  for (MPI_Comm& communicator : communicators_->all) MPI_Comm_free(&communicator);
}

void MpiAllreduce::add(const std::string& name) {
  MPI_Comm communicator = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator), "MPI_Comm_dup");
  communicators_->all.push_back(communicator);
  names_.push_back("mpi/" + name);
}

void MpiAllreduce::add_forced() {
  int provided = 0;
  check_mpi(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
  int variable = 0;
  if (MPI_T_cvar_get_index("coll_tuned_allreduce_algorithm", &variable) == MPI_SUCCESS) {
    MPI_T_enum values = MPI_T_ENUM_NULL;
    int verbosity = 0, binding = 0, scope = 0, name_length = 0, description_length = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check_mpi(MPI_T_cvar_get_info(variable, nullptr, &name_length, &verbosity, &type, &values, nullptr,
                                  &description_length, &binding, &scope),
              "MPI_T_cvar_get_info");
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    check_mpi(MPI_T_cvar_handle_alloc(variable, nullptr, &handle, &count), "MPI_T_cvar_handle_alloc");
    int items = 0;
    if (values != MPI_T_ENUM_NULL)
      check_mpi(MPI_T_enum_get_info(values, &items, nullptr, &name_length), "MPI_T_enum_get_info");
    for (int i = 0; i < items; ++i) {
      int value = 0;
      std::array<char, 256> name{};
      auto length = static_cast<int>(name.size());
      check_mpi(MPI_T_enum_get_item(values, i, &value, name.data(), &length), "MPI_T_enum_get_item");
      if (value == kOwnChoice) continue;
      check_mpi(MPI_T_cvar_write(handle, &value), "MPI_T_cvar_write");
      add(name.data());
    }
    check_mpi(MPI_T_cvar_write(handle, &kOwnChoice), "MPI_T_cvar_write");
    check_mpi(MPI_T_cvar_handle_free(&handle), "MPI_T_cvar_handle_free");
  }
  check_mpi(MPI_T_finalize(), "MPI_T_finalize");
}

bool MpiAllreduce::supports(DType dtype) {
  return mpi_type(dtype) != MPI_DATATYPE_NULL;
}

void MpiAllreduce::sum(size_t algorithm, const comm::Buffer& data) const {
  check(data.count <= INT_MAX, "MPI_Allreduce", "expected at most ", INT_MAX, " elements, got ", data.count);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, data.data, static_cast<int>(data.count), mpi_type(data.dtype),
                          MPI_SUM, communicators_->all.at(algorithm)),
            "MPI_Allreduce");
}

}  // namespace lockstep::launcher
