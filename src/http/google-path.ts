/**
 * The path with `models/` before the model's name. Google's clients send it; those of the AI SDK leave it out when the name contains a
 * slash, as in `tunedModels/…`.
 */
export const withModelsFolder = (path: string): string =>
  path.includes(':') ? path.replace(BARE_NAME, '/$1/models/$2') : path

const BARE_NAME =
  /^\/(v1|v1beta)\/(?!models\/|v1\/|v1beta\/)([^/]+\/.+:(?:generateContent|streamGenerateContent|countTokens))$/
