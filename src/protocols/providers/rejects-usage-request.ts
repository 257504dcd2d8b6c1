/** Providers that reject the field that requests a stream's usage, because they reject all unknown fields. They always report the usage. */
export const REJECTS_USAGE_REQUEST_PATTERN = /^mistral$/
