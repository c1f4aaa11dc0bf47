"""An edition as it leaves the house: e-mail, web hooks, print, and who was sent what."""
