#include "launcher/bench_allreduce_command.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "comm/codecs/table.h"
#include "comm/mpi/mpi_topology.h"
#include "comm/mpi/mpi_transport.h"
#include "launcher/environment.h"
#include "launcher/exit_status.h"
#include "runtime/cpu_name.h"
#include "runtime/error.h"
#include "runtime/log.h"
#include "runtime/threads.h"
#include "train/gnuplot.h"
#include "train/tuning.h"

namespace lockstep::launcher {
namespace {

namespace fs = std::filesystem;

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64,
                            DType::kI64, DType::kI32, DType::kU8};

DType dtype_named(const std::string& name) {
  std::string known;
  for (const DType dtype : kTypes) {
    if (name == name_of(dtype)) return dtype;
    known += to_text(known.empty() ? "" : ", ", dtype);
  }
  throw ConfigError(to_text("[bench allreduce] unknown dtype \"", name, "\": expected one of ", known));
}

comm::Codec codec_named(const std::string& name) {
  std::string known = comm::name_of(comm::Codec::kNone);
  if (name == known) return comm::Codec::kNone;
  for (const comm::CodecRow& codec : comm::codecs()) {
    if (name == codec.name) return codec.codec;
    known += to_text(", ", codec.name);
  }
  throw ConfigError(to_text("[bench allreduce] unknown codec \"", name, "\": expected one of ", known));
}

void check_algorithm(const std::string& text, bool reproducible) {
  try {
    comm::parse_selection(text, reproducible);
  } catch (const InvalidArgument& error) {
    throw ConfigError(error.what());
  }
}

/// Does not return.
void start_mpirun(const BenchAllreduceOptions& options, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"mpirun", "-np", std::to_string(options.ranks)};
  if (options.mpirun_options.empty()) {
    words.insert(words.end(), {"--bind-to", "none"});
    if (options.ranks > allowed_cores()) words.emplace_back("--oversubscribe");
  } else {
    std::istringstream stream(options.mpirun_options);
    for (std::string word; stream >> word;) words.push_back(word);
  }
  words.push_back(fs::read_symlink("/proc/self/exe"));
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with({});
  if (::geteuid() == 0) {
    log::info("running as root: telling mpirun that it may");
    variables = environment_with({"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  ::execvpe("mpirun", pointers(words).data(), pointers(variables).data());
  throw ConfigError(to_text("[bench allreduce] cannot start mpirun: ", std::strerror(errno),
                            "; Debian has it in the package openmpi-bin"));
}

std::vector<std::string> all_algorithms(const BenchAllreduceOptions& options, bool shared) {
  std::vector<std::string> names{"auto"};
  for (const comm::Algorithm& algorithm : comm::algorithms()) {
    const bool eligible = algorithm.tree_order || !options.reproducible;
    if (eligible && (shared || !algorithm.shared_memory)) names.emplace_back(algorithm.name);
  }
  return names;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return text;
}

std::vector<AllreduceRow> measure_all(comm::HostCommunicator& communicator,
                                      const BenchAllreduceOptions& options) {
  AllreduceBenchOptions measure = options.measure;
  if (measure.algorithms.empty())
    measure.algorithms = all_algorithms(options, communicator.ranks_per_node() > 1);
  measure.codecs.clear();
  for (const std::string& name : options.codecs) measure.codecs.push_back(codec_named(name));
  AllreduceBench bench(communicator, measure, options.largest);
  std::vector<AllreduceRow> rows;
  for (const std::string& dtype : options.dtypes) {
    for (size_t nbytes = options.smallest; nbytes <= options.largest;
         nbytes *= static_cast<size_t>(options.factor)) {
      const std::vector<AllreduceRow> of_size = bench.measure(nbytes, dtype_named(dtype));
      rows.insert(rows.end(), of_size.begin(), of_size.end());
    }
  }
  return rows;
}

/// On rank 0.
void write_files(const BenchAllreduceOptions& options, const std::vector<AllreduceRow>& rows,
                 const std::string& title) {
  fs::create_directories(options.output);
  const std::string path = options.output + "/allreduce.jsonl";
  std::ofstream lines(path);
  for (const AllreduceRow& row : rows) lines << allreduce_json_line(row);
  lines.flush();
  check<Error>(lines.good(), "bench allreduce", "cannot write ", path);
  const std::string problem = train::draw(options.output, "allreduce", allreduce_plot(rows, title), {});
  if (!problem.empty()) log::info("no picture was drawn; ", problem);
  log::info("rows: ", path);
}

void write_tuning(const BenchAllreduceOptions& options, const std::vector<AllreduceRow>& rows,
                  const train::RanksLayout& layout) {
  const comm::Selection fastest = fastest_selection(rows, options.reproducible);
  Tuning::Entry entry;
  entry.set_ranks(layout.ranks);
  entry.set_ranks_per_machine(layout.ranks_per_machine);
  entry.set_algorithm(fastest.text());
  entry.set_measured(to_text(today(), ", ", allowed_cores(), " cores of ", cpu_name()));
  train::write_tuning(options.tune, entry);
  log::info("fastest: ", fastest.description(), "; written to ", options.tune);
}

int measure_and_report(const BenchAllreduceOptions& options, const Identity& identity) {
  configure_compute_threads(1);
  if (options.measure.baselines) MpiAllreduce::prepare();
  comm::MpiSession session;
  try {
    comm::HostOptions host;
    host.numerics = options.reproducible ? comm::Numerics::kReproducible : comm::Numerics::kFast;
    host.busy_threads = identity.local_size;
    host.progress = comm::Progress::kCaller;  // MPI's own calls are made on this thread, too
    int status = kDone;
    {
      comm::HostCommunicator communicator(comm::make_mpi_transport(session), host);
      if (options.shared_memory) communicator.share_memory(comm::mpi_topology(session));
      const std::string title =
          to_text("all-reduce of ", session.size(), " ranks on ", allowed_cores(), " cores of ", cpu_name());
      if (session.rank() == 0) log::info(title, "; ", communicator.description());
      const std::vector<AllreduceRow> rows = measure_all(communicator, options);
      for (const AllreduceRow& row : rows) {
        if (row.wrong > 0) status = kInternalError;
      }
      if (session.rank() == 0) {
        std::cout << allreduce_table(rows) << std::flush;
        if (!options.output.empty()) write_files(options, rows, title);
        if (!options.tune.empty()) write_tuning(options, rows, {session.size(), identity.local_size});
      }
    }
    session.finalize();
    return status;
  } catch (const std::exception& error) {
    log::error("rank ", session.rank(), ": ", error.what());
    session.abort(status_of(error));
  }
}

}  // namespace

size_t parse_bytes(const std::string& text) {
  size_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit = rest;
  const std::string units = "KMG";
  const size_t power = unit.empty() ? 0 : units.find(unit) + 1;
  check<ConfigError>(error == std::errc() && value > 0 && unit.size() <= 1 && power <= units.size() &&
                         value <= (size_t{1} << 40) && (unit.empty() || power > 0),
                     "bench allreduce", "\"", text, "\": expected a number of bytes, as 64, 8K, 25M or 1G");
  return value << (10 * power);
}

int bench_allreduce_command(const BenchAllreduceOptions& options, const std::vector<std::string>& arguments) {
  check<ConfigError>(options.smallest <= options.largest, "bench allreduce", "--min ", options.smallest,
                     " is above --max ", options.largest);
  for (const std::string& dtype : options.dtypes) {
    check<ConfigError>(options.smallest >= size_of(dtype_named(dtype)), "bench allreduce", "--min ",
                       options.smallest, " is less than one element of ", dtype);
  }
  for (const std::string& algorithm : options.measure.algorithms) {
    if (algorithm != "auto") check_algorithm(algorithm, options.reproducible);
  }
  for (const std::string& codec : options.codecs) codec_named(codec);
  const Identity identity = identify(environment_variable);
  if (!identity.has_launcher()) start_mpirun(options, arguments);
  check<ConfigError>(identity.size > 1, "bench allreduce", "needs at least 2 ranks: mpirun -np 2 ...");
  return measure_and_report(options, identity);
}

}  // namespace lockstep::launcher
