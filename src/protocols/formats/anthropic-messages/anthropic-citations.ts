import { assertNever } from '../../../lib/assert-never.ts'
import { formatScalar, isObject, type JsonObject } from '../../../lib/json.ts'
import { getEntry } from '../../../lib/maps.ts'
import type { Citation } from '../canonical/canonical-parts.ts'
import { omitUndefined, readString } from '../canonical/canonical-values.ts'
import type { ResponseWarnings } from '../canonical/canonical-warnings.ts'
import type { WireCitation, WireCitationParam } from './anthropic-wire.ts'

/** Parses a text block's `citations`. Drops citations of an unknown type and reports them to `responseWarnings`. */
export function parseCitations(citations: unknown, responseWarnings?: ResponseWarnings): Citation[] | undefined {
  if (!Array.isArray(citations)) return undefined
  const parsedCitations = citations.flatMap((citation: unknown) =>
    isObject(citation) ? (parseCitation(citation) ?? []) : [],
  )
  if (parsedCitations.length < citations.length) responseWarnings?.recordDrop('citations')
  return parsedCitations.length > 0 ? parsedCitations : undefined
}

export function parseCitation(citation: JsonObject): Citation | undefined {
  const unit = getEntry(positionUnits, formatScalar(citation.type))
  const url = readString(citation.url) ?? readString(citation.source)
  if (!unit && url === undefined) return undefined
  const [start, end] = unit ? [citation[`start_${unit}`], citation[`end_${unit}`]] : []
  return omitUndefined<Citation>({
    url,
    title: readString(citation.document_title) ?? readString(citation.title),
    quote: readString(citation.cited_text),
    document: typeof citation.document_index === 'number' ? citation.document_index : undefined,
    position:
      typeof start === 'number' && typeof end === 'number' && unit
        ? { unit: canonicalUnits[unit], start, end }
        : undefined,
    fileId: readString(citation.file_id),
  })
}

/** The unit in a position's field names, by citation type. */
const positionUnits: Readonly<Record<string, keyof typeof canonicalUnits>> = {
  char_location: 'char_index',
  page_location: 'page_number',
  content_block_location: 'block_index',
  search_result_location: 'block_index',
}

const canonicalUnits = { char_index: 'character', page_number: 'page', block_index: 'block' } as const

/** Writes a citation for a client. The format can't cite a file that isn't among the request's documents. */
export function writeCitation(citation: Citation, responseWarnings: ResponseWarnings): WireCitation | undefined {
  const { url, quote = '', fileId = null } = citation
  if (url !== undefined) {
    const title = citation.title ?? url // AI SDK 5 and 6 reject null
    return { type: 'web_search_result_location', cited_text: quote, encrypted_index: '', title, url }
  }
  const param = writeCitationParam(citation)
  if (!param) responseWarnings.recordDrop('citations')
  return param && { ...param, file_id: fileId }
}

/** Writes an assistant turn's citation. Omits web page citations, which need the encrypted index from the original response. */
export function writeCitationParam({ title, quote, document, position }: Citation): WireCitationParam | undefined {
  if (document === undefined || !position) return undefined
  const { start, end } = position
  const citedDocument = { cited_text: quote ?? '', document_index: document, document_title: title ?? null }
  switch (position.unit) {
    case 'character':
      return { type: 'char_location', ...citedDocument, start_char_index: start, end_char_index: end }
    case 'page':
      return { type: 'page_location', ...citedDocument, start_page_number: start, end_page_number: end }
    case 'block':
      return { type: 'content_block_location', ...citedDocument, start_block_index: start, end_block_index: end }
    default:
      return assertNever(position.unit)
  }
}
