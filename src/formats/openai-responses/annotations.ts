import { isObject } from '../../lib/json.ts'
import type { Citation } from '../canonical/citations.ts'
import { defined } from '../canonical/defined.ts'
import type { Losses } from '../canonical/losses.ts'
import type { WireAnnotation } from './wire.ts'

/** `annotations` of a text. Of those that cite neither a page nor a file `losses` is told. */
export function parseAnnotations(annotations: unknown, losses?: Losses): Citation[] {
  if (!Array.isArray(annotations)) return []
  const citations = annotations.flatMap((annotation: unknown) => parseAnnotation(annotation) ?? [])
  if (citations.length < annotations.length) losses?.dropped('annotations')
  return citations
}

/** A file is cited at a point, so that nothing is known of the span. */
function parseAnnotation(annotation: unknown): Citation | undefined {
  if (!isObject(annotation)) return undefined
  const { url, title, filename, file_id, start_index: start, end_index: end } = annotation
  if (typeof url !== 'string' && typeof file_id !== 'string') return undefined
  const hasSpan = typeof start === 'number' && typeof end === 'number' && end > start
  const name = title ?? filename
  return defined<Citation>({
    url: typeof url === 'string' ? url : undefined,
    title: typeof name === 'string' && name !== '' ? name : undefined,
    fileId: typeof url !== 'string' && typeof file_id === 'string' ? file_id : undefined,
    start: hasSpan ? start : undefined,
    end: hasSpan ? end : undefined,
  })
}

/** A citation for a client, in a text of `length`. One of a document in the request has no place here. */
export function wireAnnotation(citation: Citation, length: number): WireAnnotation | undefined {
  const { url, fileId, title = '', start = 0, end = length } = citation
  if (url !== undefined) return { type: 'url_citation', url, title, start_index: start, end_index: end }
  return fileId === undefined ? undefined : { type: 'file_citation', file_id: fileId, filename: title, index: end }
}
