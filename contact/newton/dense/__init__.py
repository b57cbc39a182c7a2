"""Linear problems of statuses as dense matrices: put together, factored, solved."""
