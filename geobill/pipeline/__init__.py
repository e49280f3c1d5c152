"""The spine: the order of the stages, each job readable as named steps. The only room that knows them all.

``registers`` (operators, decisions, policy) · ``imports`` (files in) · ``month`` (a priced month) · ``billing`` (invoices
and their documents). The day and the hour are arguments (``today``, ``now``); ``say`` tells a person how far a job is.
"""
