const API = /^\/(?:v1|health|metrics|openapi\.json)(?:[/?]|$)/;

/** Paths of the API. Every other path may be a page of the console. */
export function isApiPath(url: string): boolean {
  return API.test(url);
}
