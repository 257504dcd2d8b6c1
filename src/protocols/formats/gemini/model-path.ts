import { encodePathSegment } from '../../../lib/urls.ts'

/** Returns a model's path, `/models/name` or `/tunedModels/name`. Throws `INVALID_REQUEST` if the name can't be part of a path. */
export function toModelPath(model: string): string {
  const [, collection = 'models', name = model] = /^(models|tunedModels)\/(.+)$/.exec(model) ?? []
  return `/${collection}/${encodePathSegment(name)}`
}
