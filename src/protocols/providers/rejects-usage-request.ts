/** Providers that reject the field for requesting a stream's usage, because they reject all unknown fields. They always report the usage. */
export const REJECTS_USAGE_REQUEST = /^mistral$/
