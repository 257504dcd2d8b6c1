import { gatewayError } from '../errors.ts'

/**
 * The name of a model as one segment of a path. Throws `INVALID_REQUEST` on a name that is no segment: an empty one, half of a surrogate
 * pair, and `.` or `..`, also when their dots are encoded, however often, since some servers decode a path twice.
 */
export function pathSegment(name: string): string {
  if (name === '' || /\p{Cs}/u.test(name) || DOTS.test(name)) {
    throw gatewayError('INVALID_REQUEST', {
      message: `The model name ${JSON.stringify(name)} cannot stand in the path of an address.`,
      data: { param: 'model' },
    })
  }
  return encodeURIComponent(name)
}

const DOTS = /^(?:\.|%(?:25)*2e){1,2}$/i
