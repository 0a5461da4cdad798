// The description of the API, drawn by Swagger UI. No inline code: where it lies is said by data attributes.
"use strict";

const box = document.getElementById("api");
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  url: box.dataset.description,
  domNode: box,
  layout: "BaseLayout",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [() => ({ wrapComponents: { InfoContainer: () => () => null } })], // the page says it, with a heading of its own
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  requestInterceptor: (request) => {
    // What is tried here is asked with the session of the page; Django wants its token with it.
    if (new URL(request.url, location.href).origin === location.origin) request.headers["X-CSRFToken"] = box.dataset.csrf;
    return request;
  },
});
