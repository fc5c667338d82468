// The admin's boxes that are filled by typing get the name of the field that they stand for.

function nameBoxes() {
  for (const box of document.querySelectorAll(".select2-selection__rendered")) {
    const select = box.closest(".select2")?.previousElementSibling;
    if (!(select instanceof HTMLSelectElement)) continue;
    const label = select.labels?.[0]?.textContent ?? select.name;
    box.setAttribute("aria-label", select.getAttribute("aria-label") ?? label.trim());
  }
}

// jQuery makes the boxes a turn after the page is parsed: where all files are at hand, after this
// event.
addEventListener("load", () => setTimeout(nameBoxes));
document.addEventListener("formset:added", () => setTimeout(nameBoxes));
