"""The wire protocol of the Annual Computer Poker Competition: a dealer and a client."""
