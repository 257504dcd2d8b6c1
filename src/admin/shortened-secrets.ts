/** Returns the last four characters of a secret, after `…`. A short secret becomes just `…`. */
export const shortenSecret = (secret: string): string =>
  `…${secret.length < MIN_SHORTENED_LENGTH ? '' : secret.slice(-VISIBLE_CHARACTERS)}`

const VISIBLE_CHARACTERS = 4
const MIN_SHORTENED_LENGTH = 12

/** Explains why a record's secret isn't shown. `field` is the secret's field. */
export const describeUnreadable = (field: string): string =>
  `The credential cannot be decrypted because it was changed, moved, or encrypted with another secret. Check the URL it is sent to, then set "${field}" again.`

/** Explains why a secret isn't sent to a changed URL. `url` is the field that changed. */
export const describeUrlChange = (url: string, subject: string, field: string): string =>
  `"${url}" changes where the ${subject} sent, so send "${field}" again as well, or null for none`
