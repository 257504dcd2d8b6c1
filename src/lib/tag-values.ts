/** Returns whether a tag's value is valid: `true`, `false`, or a string that fits into a header with comma-separated tags. */
export const isTagValue = (value: unknown): value is string | boolean =>
  typeof value === 'boolean' || (typeof value === 'string' && TAG_TEXT_PATTERN.test(value))

/** Matches printable ASCII without commas or surrounding spaces. */
export const TAG_TEXT_PATTERN = /^(?! )[ -+\--~]{1,64}$(?<! )/

/** Describes valid tag values, for error messages. */
export const TAG_VALUE_MESSAGE = 'must be true, false, or 1 to 64 ASCII characters without commas'

/** Describes valid required tags, for error messages. */
export const TAGS_MESSAGE = 'must be an object with 1 to 16 tags, such as { "region": "eu" }'
