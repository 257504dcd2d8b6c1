import { encodePathSegment } from '../../../lib/urls.ts'

/** Returns the path of a model, `/models/name` or `/tunedModels/name`. Throws `INVALID_REQUEST` on a name that can't be part of a path. */
export function toModelPath(model: string): string {
  const [, collection = 'models', name = model] = /^(models|tunedModels)\/(.+)$/.exec(model) ?? []
  return `/${collection}/${encodePathSegment(name)}`
}
