"""What every program needs around its work: errors, result files, progress, executors."""
