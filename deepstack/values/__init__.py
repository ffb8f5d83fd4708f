"""What a value network sees and says: inputs, model, checkpoint, leaf evaluators."""
