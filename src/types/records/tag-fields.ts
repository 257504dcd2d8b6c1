import { map, tag, text } from './shapes.ts'

/** The pattern for tag names. */
export const TAG_NAME_PATTERN = /^[A-Za-z][\w.-]{0,63}$/

/** Tags by name, at most 16: a connection's tags, or the tags that a request requires. */
export const dataTags = map({ name: text({ pattern: TAG_NAME_PATTERN, form: 'tagName' }), of: tag, max: 16 })
