import { isObject } from '../../lib/json.ts'
import type { Citation } from '../canonical/citations.ts'
import { defined } from '../canonical/defined.ts'
import type { Losses } from '../canonical/losses.ts'
import type { WireAnnotation } from './wire.ts'

/** `annotations` of a message or a delta; of those that cite no address `losses` is told. */
export function parseAnnotations(annotations: unknown, losses: Losses): Citation[] {
  if (!Array.isArray(annotations)) return []
  const citations = annotations.flatMap((annotation: unknown) => {
    const cited = isObject(annotation) ? annotation.url_citation : undefined
    if (!isObject(cited) || typeof cited.url !== 'string') return []
    const { url, title, content, start_index: start, end_index: end } = cited
    const hasSpan = typeof start === 'number' && typeof end === 'number' && end > start
    return [
      defined<Citation>({
        url,
        title: typeof title === 'string' ? title : undefined,
        quote: typeof content === 'string' ? content : undefined,
        start: hasSpan ? start : undefined,
        end: hasSpan ? end : undefined,
      }),
    ]
  })
  if (citations.length < annotations.length) losses.dropped('annotations')
  return citations
}

/** Perplexity cites beside the message: `search_results`, or `citations` with addresses only. */
export function parseSources(answer: { citations?: unknown; search_results?: unknown }): Citation[] {
  const sources = Array.isArray(answer.search_results) ? answer.search_results : answer.citations
  if (!Array.isArray(sources)) return []
  return sources.flatMap((source: unknown): Citation[] => {
    if (typeof source === 'string') return [{ url: source }]
    if (!isObject(source) || typeof source.url !== 'string') return []
    return [typeof source.title === 'string' ? { url: source.url, title: source.title } : { url: source.url }]
  })
}

/** A citation for a client. `offset` and `length` are of the part that it stands in, within the whole content. */
export function wireAnnotation(
  citation: Citation,
  { offset, length }: { offset: number; length: number },
  losses: Losses,
): WireAnnotation[] {
  const { url, title = '', start = 0, end = length } = citation
  if (url === undefined) {
    losses.dropped('citations') // of a document
    return []
  }
  return [{ type: 'url_citation', url_citation: { url, title, start_index: offset + start, end_index: offset + end } }]
}
