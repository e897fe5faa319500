"""What dgap promises: properties, environment, assumptions and dumb twins."""
