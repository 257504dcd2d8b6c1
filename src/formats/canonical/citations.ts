/** The source of something that the model says. */
export interface Citation {
  /** Absent when a document of the request is cited. */
  url?: string
  title?: string
  /** The quoted text of the source. */
  quote?: string
  /** The span of the text part that it supports, in UTF-16 units; absent: the whole part. */
  start?: number
  end?: number
  /** Index of the cited document among the documents of the request. */
  document?: number
  /** The place within the document: characters, pages (from 1) or blocks; the end is exclusive. */
  place?: { unit: 'character' | 'page' | 'block'; start: number; end: number }
  fileId?: string
}
