"""Draws the speeds of all programs as bars, in a panel for each kind of images."""
import pathlib

WIDTH, LABELS, RIGHT, STEP = 800, 200, 120, 26
COLORS = {"thumbs": "#c2410c", "bare codec loop": "#9ca3af"}


def bar(y, name, speed, scale):
    length = (WIDTH - LABELS - RIGHT) * speed / scale
    weight = "bold" if name == "thumbs" else "normal"
    return (f'<text x="{LABELS - 10}" y="{y + 13}" text-anchor="end" font-weight="{weight}">{name}</text>'
            f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="18" fill="{COLORS.get(name, "#64748b")}"/>'
            f'<text x="{LABELS + length + 8:.1f}" y="{y + 13}" font-weight="{weight}">{speed:,.0f} items/s</text>')


def write(path, panels):
    """Writes an SVG file. `panels` are speeds by the name of the program, by title."""
    out, y = [], 10
    for title, speeds in panels.items():
        out.append(f'<text x="{LABELS}" y="{y + 14}" font-size="15">{title}</text>')
        y += 24
        for name, speed in speeds.items():
            out.append(bar(y, name, speed, max(speeds.values())))
            y += STEP
        y += 14
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" '
            f'font-size="13" fill="#222222">\n<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>\n')
    pathlib.Path(path).write_text(head + "\n".join(out) + "\n</svg>\n", encoding="utf-8")
