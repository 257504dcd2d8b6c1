import type { Endpoint } from '../endpoint.ts'

/** The methods of a model, whose name is in the path. */
const methodsUnder = (version: string): Endpoint[] => {
  const of = (method: string, more: Pick<Endpoint, 'operation' | 'streams'>): Endpoint => ({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    upstreamPath: (model) => `/models/${encodeURI(model)}:${method}${more.streams === 'always' ? '?alt=sse' : ''}`,
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
