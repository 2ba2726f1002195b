"""Motions in a browser: one file that needs nothing else, with drawings, controls and plots at one time.

`page.page_of` makes the file, `page.fragment_of` a part of a longer page. `pack` makes the data compact, `page` puts
them into HTML, and the folder js/ has what runs in the browser, joined by `assets` in the order given there. It is
plain WebGL 2, without other libraries; docs/decisions/pictures.md says why.
"""
