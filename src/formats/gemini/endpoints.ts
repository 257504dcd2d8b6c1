import { pathSegment } from '../../lib/path-segment.ts'
import type { Endpoint } from '../endpoint.ts'

/** The methods of a model, whose name is in the path. */
const methodsUnder = (version: string): Endpoint[] => {
  const of = (method: string, more: Pick<Endpoint, 'operation' | 'streams'>): Endpoint => ({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    upstreamPath: (model) => `${modelPath(model)}:${method}${more.streams === 'always' ? '?alt=sse' : ''}`,
    ...more,
  })
  return [
    of('generateContent', { operation: 'generate', streams: 'never' }),
    of('streamGenerateContent', { operation: 'generate', streams: 'always' }),
    of('countTokens', { operation: 'count-tokens', streams: 'never' }),
  ]
}

/** Google's clients call either version. */
export const geminiEndpoints: readonly Endpoint[] = [...methodsUnder('v1beta'), ...methodsUnder('v1')]

/** `/models/name`; a tuned model has its own collection. Throws `INVALID_REQUEST` on a name that cannot stand in a path. */
export function modelPath(model: string): string {
  const [, collection = 'models', name = model] = /^(models|tunedModels)\/(.+)$/.exec(model) ?? []
  return `/${collection}/${pathSegment(name)}`
}
