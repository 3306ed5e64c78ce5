"""`Plan` is data of the rooms below (``nests/schedule/plan.py``); here by its old name."""

from axiloom.nests.schedule.plan import Double, Edge, Order, Plan, Stream

__all__ = ["Double", "Edge", "Order", "Plan", "Stream"]
