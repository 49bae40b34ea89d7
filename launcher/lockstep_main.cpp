#include "launcher/lockstep_program.h"

int main(int argc, char** argv) {
  return lockstep::launcher::run_lockstep(argc, argv);
}
