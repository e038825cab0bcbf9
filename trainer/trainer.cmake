# The trainer proper: the only target that sees torch.
include(${PROJECT_SOURCE_DIR}/cmake/libtorch.cmake)

set(convolution model/convolution_torch.cpp)
if(onednn)
  set(convolution model/convolution_onednn.cpp)
endif()

evolve_library(trainer
  checkpoint/checkpoint.cpp
  checkpoint/embedded_weights.S
  checkpoint/embedded_weights.cpp
  checkpoint/pretrained.cpp
  checkpoint/state_dict.cpp
  checkpoint/tensor_pickle.cpp
  evaluation/candidate_rows.cpp
  evaluation/validate.cpp
  evaluation/validation_report.cpp
  loss/level_loss.cpp
  loss/loss.cpp
  loss/loss_options.cpp
  loss/matches.cpp
  loss/targets.cpp
  model/blocks.cpp
  model/bn_silu.cpp
  model/conv_bn_silu.cpp
  ${convolution}
  model/detector.cpp
  model/parallel.cpp
  optim/amp.cpp
  optim/flat_parameters.cpp
  optim/optimizer.cpp
  optim/schedule.cpp
  optim/train_step.cpp
  render/coordinates.cpp
  render/image_store.cpp
  render/program.cpp
  render/tables.cpp
  device/device_images.cpp
  device/load.cpp
  device/open_device.cpp
  device/torch_version.cpp
  run/full_training.cpp
  run/heartbeat.cpp
  run/loss_log.cpp
  run/prepared_data.cpp
  run/setup.cpp
  run/trainer.cpp
  run/training_loop.cpp
  run/training_state.cpp
)
target_link_libraries(evolve_trainer
  PUBLIC evolve::hyp evolve::train_options evolve::data evolve::metrics evolve::protocol evolve::models evolve::ranks
  PRIVATE $<BUILD_INTERFACE:evolve_torch> fmt::fmt Boost::headers)
# Loops that only become vector instructions when the compiler need not care about floating-point traps. Nothing may
# assume that there is no NaN: a training that diverges must be seen to.
set_source_files_properties(model/bn_silu.cpp PROPERTIES
  SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "-O3;-ffp-contract=fast;-fno-trapping-math")
# The coordinates are OpenCV's, which Debian builds without fused multiplication.
set_source_files_properties(render/coordinates.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
# Parsing torch's headers takes longer than everything else: once per build, not once per file.
target_precompile_headers(evolve_trainer PRIVATE <torch/torch.h>)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
  target_compile_options(evolve_trainer PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

# libtorch allocates and frees all the time: mimalloc instead of glibc's malloc makes a trial of a small model 5 to
# 10 % shorter. 3.0, which Debian 13 has, is a beta in which a training crashed (docs/platforms.md).
find_package(mimalloc REQUIRED)
add_executable(evolve-worker ranks/start_ranks.cpp run/kept_memory.cpp run/worker_main.cpp)
if(NOT mimalloc_VERSION MATCHES "^3\\.0")
  target_compile_definitions(evolve-worker PRIVATE EVOLVE_MIMALLOC)
  # Nothing else names it: the linker would drop it.
  target_link_libraries(evolve-worker PRIVATE -Wl,--no-as-needed mimalloc -Wl,--as-needed)
endif()
target_link_libraries(evolve-worker PRIVATE
  evolve::trainer evolve::protocol evolve::devices fmt::fmt evolve_warnings)

# Debian's assembler finds the checkpoint beside the source; a new one must assemble again.
set_source_files_properties(checkpoint/embedded_weights.S PROPERTIES
  COMPILE_OPTIONS "-I${CMAKE_CURRENT_SOURCE_DIR}/checkpoint"
  OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/checkpoint/shapes_base.pt)
# Installed it still finds the libtorch that it was built with; the wheel's says itself where that is.
if(EVOLVE_LIBTORCH AND NOT CMAKE_INSTALL_RPATH)
  get_filename_component(torch_folder ${torch_cpu} DIRECTORY)
  set_target_properties(evolve-worker PROPERTIES INSTALL_RPATH ${torch_folder})
endif()
install(TARGETS evolve-worker RUNTIME COMPONENT evolve-worker)
