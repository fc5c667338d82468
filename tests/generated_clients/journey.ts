import createClient from "openapi-fetch";
import type { paths } from "./api.js";

declare const process: { argv: string[]; exitCode: number };

const [, , baseUrl, token] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

function expect(truth: boolean, what: string): asserts truth {
  if (!truth) throw new Error(what);
}

const added = await client.POST("/api/v1/sources", {
  body: {
    text: "Whales sing.",
    title: "Whales",
    url: "",
    collection: "",
    language: "",
    translated: false,
    listen: false,
    tags: [],
  },
});
expect(added.response.status === 201, "a text is stored");
const found = await client.GET("/api/content/videos/", {
  params: { query: { title__icontains: "WHALE", sort: ["-title"] } },
});
const video = found.data?.videos[0];
expect(video?.title === "Whales" && found.data?.total === 1, "it is found by a filter");
const renamed = await client.PATCH("/api/content/videos/{id}/", {
  params: { path: { id: video.pk } },
  body: { title: "Sea" },
});
expect(renamed.data?.title === "Sea", "it is renamed");
const refused = await client.GET("/api/v1/notes", { params: { query: { limit: 0 } } });
expect(refused.error?.errors[0]?.field === "limit", "a refusal names the field");
const note = await client.POST("/api/v1/notes", {
  body: { title: "", text: "They sing.", collection: "" },
});
expect(note.data?.text === "They sing.", "a note is kept");
const night = {
  params: { header: { "Idempotency-Key": "night" } },
  body: { title: "", text: "They sing at night.", collection: "" },
};
const first = await client.POST("/api/v1/notes", night);
const again = await client.POST("/api/v1/notes", night);
expect(first.data?.id === again.data?.id, "a repeated request returns the first answer");
expect(again.response.headers.get("Idempotent-Replayed") === "true", "and says so");
const hook = await client.POST("/api/v1/webhooks", {
  body: { url: "https://example.org/hook", events: ["source.added"], description: "" },
});
expect(hook.data?.secret.startsWith("whsec_") === true, "a webhook is made");
const hooks = await client.GET("/api/v1/webhooks");
expect(hooks.data?.webhooks[0]?.id === hook.data?.id, "and listed");
