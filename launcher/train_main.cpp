#include "launcher/train_program.h"

int main(int argc, char** argv) {
  return lockstep::launcher::run_train(argc, argv);
}
