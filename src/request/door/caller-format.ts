import type { Exchange } from '../../lib/exchange.ts'
import type { Format } from '../../protocols/formats/format.ts'
import { formats, getFormat } from '../../protocols/formats/formats.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import { listMembers } from '../../types/unions.ts'
import type { ClientFormat } from '../../types.ts'

/**
 * Returns the format of errors and lists for a caller under `/v1` or `/v1beta`: the endpoint's format, or else the path's. For paths that all vendors
 * share, the headers determine the format, and the default is OpenAI's (src/rules.md, Model lists of OpenAI clients).
 */
export function getCallerFormat(path: string, exchange: Pick<Exchange, 'header'>): Format {
  const endpoint = endpoints.find((candidate) => candidate.path === path)
  if (endpoint) return getFormat(endpoint.format)
  const pathFormat = candidateFormats.find(({ clientDetection }) => clientDetection.paths?.test(path))
  if (pathFormat) return pathFormat
  const isSharedPath = isModelList(path) || path.startsWith('/v1/models/')
  const headerFormat =
    isSharedPath &&
    candidateFormats.find(({ clientDetection }) =>
      clientDetection.headers.some((name) => exchange.header(name) !== undefined),
    )
  return headerFormat || getFormat('openai-chat')
}

/** Lists the formats of all clients that may call a path, default first. */
export function listCallerFormats(path: string): ClientFormat[] {
  const headerSets = [[], ...formats.map(({ clientDetection }) => clientDetection.headers)]
  return headerSets.map(
    (headerNames) => getCallerFormat(path, { header: (name) => (headerNames.includes(name) ? '' : undefined) }).name,
  )
}

/** Returns whether this is the model list's path, which any browser page may read. */
export const isModelList = (path: string): boolean => /^\/v1\/models\/*$/.test(path)

/**
 * The formats, in the order in which to check a request for them. Google's comes first: its methods may follow a model name that looks like another
 * format's path, and its key may be among another format's headers.
 */
const candidateFormats = listMembers<ClientFormat>({
  gemini: true,
  'ai-sdk': true,
  'anthropic-messages': true,
  'openai-responses': true,
  'openai-chat': true,
}).map(getFormat)
