import type { WireFormat } from '../../types.ts'

/** The source of an image, a file, a sound or a video. */
export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string }
  /** An id at one vendor, which no other format can use. */
  | { type: 'file-id'; id: string; format: WireFormat; mediaType?: string }
  /** A document that is plain text. */
  | { type: 'text'; mediaType: string; text: string }
