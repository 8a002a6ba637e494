"""The engine without any operation: values in flight, traces, primitives and their kinds."""
