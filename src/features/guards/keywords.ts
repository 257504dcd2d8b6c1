/** Returns whether a string of a response is a keyword of its format, such as `finish_reason: "stop"`. Models don't choose these. */
export const isKeyword = (field: string, text: string): boolean => FIELDS.has(field) && KEYWORD.test(text)

const FIELDS = new Set([
  ...['role', 'type', 'object', 'status', 'unified', 'raw', 'service_tier', 'modality'],
  ...['finish_reason', 'finishReason', 'stop_reason', 'blockReason'],
])
const KEYWORD = /^[A-Za-z][\w.-]{0,63}$/

/** Returns whether a text is the base64 of an image or a sound. */
export const isBinary = (text: string): boolean => text.length > SHORT && BASE64.test(text)

const SHORT = 1_000
const BASE64 = /^[\w+/-]+={0,2}$/
