/**
 * Google's clients ask for `models/<name>:<method>`, but those of the AI SDK leave the folder out where a model's name has a slash, as
 * Google's own `tunedModels/…` has.
 */
export const withModelsFolder = (path: string): string =>
  path.includes(':') ? path.replace(BARE_NAME, '/$1/models/$2') : path

const BARE_NAME =
  /^\/(v1|v1beta)\/(?!models\/|v1\/|v1beta\/)([^/]+\/.+:(?:generateContent|streamGenerateContent|countTokens))$/
