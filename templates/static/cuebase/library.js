// The library: how many items there are is told while the filter changes.

import { announce, find, onHtmx } from "./dom.js";

onHtmx("afterSettle", ({ detail }) => {
  const isChoice = detail.requestConfig?.triggeringEvent?.target?.matches?.("select, [type=radio]");
  const count = find("#results .count")?.textContent;
  if (detail.target?.id === "results" && isChoice && count) announce(count);
});
