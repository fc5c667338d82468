// A request that newer words replace is no error, which htmx takes it for. Other ends of requests
// have events of their own beside the second of these.

const HARMLESS = ["htmx:sendAbort", "htmx:afterRequest"];
htmx.logger = (_element, name, detail) => {
  if (HARMLESS.includes(name)) delete detail.error;
};
