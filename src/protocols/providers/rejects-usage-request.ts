/** Providers that reject the field that requests a stream's usage, like all unknown fields. They always report the usage. */
export const REJECTS_USAGE_REQUEST = /^mistral$/
