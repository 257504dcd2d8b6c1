/** The providers that refuse to be asked for the usage of a stream, as they refuse all fields that they do not know. They report it unasked. */
export const REFUSE_USAGE_QUESTION = /^mistral$/
