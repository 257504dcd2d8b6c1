import { assertNever } from '../../lib/assert-never.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { entryOf } from '../../lib/maps.ts'
import type { Citation } from '../canonical/parts.ts'
import { defined, textIn } from '../canonical/values.ts'
import type { ResponseWarnings } from '../canonical/warnings.ts'
import type { WireCitation, WireCitationParam } from './wire.ts'

/** Parses `citations` of a text block. Citations of an unknown kind are left out and reported to `responseWarnings`. */
export function parseCitations(citations: unknown, responseWarnings?: ResponseWarnings): Citation[] | undefined {
  if (!Array.isArray(citations)) return undefined
  const parsed = citations.flatMap((citation: unknown) => (isObject(citation) ? (parseCitation(citation) ?? []) : []))
  if (parsed.length < citations.length) responseWarnings?.noteDropped('citations')
  return parsed.length > 0 ? parsed : undefined
}

export function parseCitation(citation: JsonObject): Citation | undefined {
  const unit = entryOf(units, String(citation.type))
  const url = textIn(citation.url) ?? textIn(citation.source)
  if (!unit && url === undefined) return undefined
  const [start, end] = unit ? [citation[`start_${unit}`], citation[`end_${unit}`]] : []
  return defined<Citation>({
    url,
    title: textIn(citation.document_title) ?? textIn(citation.title),
    quote: textIn(citation.cited_text),
    document: typeof citation.document_index === 'number' ? citation.document_index : undefined,
    place:
      typeof start === 'number' && typeof end === 'number' && unit ? { unit: places[unit], start, end } : undefined,
    fileId: textIn(citation.file_id),
  })
}

/** The names of the fields for the place, by the type of the citation. */
const units: Readonly<Record<string, keyof typeof places>> = {
  char_location: 'char_index',
  page_location: 'page_number',
  content_block_location: 'block_index',
  search_result_location: 'block_index',
}

const places = { char_index: 'character', page_number: 'page', block_index: 'block' } as const

/** Writes a citation for a client. The format cannot cite a file that is not among the documents of the request. */
export function wireCitation(citation: Citation, responseWarnings: ResponseWarnings): WireCitation | undefined {
  const { url, quote = '', fileId = null } = citation
  if (url !== undefined) {
    const title = citation.title ?? url // AI SDK 5 and 6 refuse null
    return { type: 'web_search_result_location', cited_text: quote, encrypted_index: '', title, url }
  }
  const param = wireCitationParam(citation)
  if (!param) responseWarnings.noteDropped('citations')
  return param && { ...param, file_id: fileId }
}

/** Writes a citation in an earlier answer. A citation of a web page is left out, since it needs the encrypted index of its own answer. */
export function wireCitationParam({ title, quote, document, place }: Citation): WireCitationParam | undefined {
  if (document === undefined || !place) return undefined
  const { start, end } = place
  const cited = { cited_text: quote ?? '', document_index: document, document_title: title ?? null }
  switch (place.unit) {
    case 'character':
      return { type: 'char_location', ...cited, start_char_index: start, end_char_index: end }
    case 'page':
      return { type: 'page_location', ...cited, start_page_number: start, end_page_number: end }
    case 'block':
      return { type: 'content_block_location', ...cited, start_block_index: start, end_block_index: end }
    default:
      return assertNever(place.unit)
  }
}
