import { gatewayError } from '../../errors.ts'
import { isTagValue } from '../../lib/tag-values.ts'
import type { RequestSettingsSource } from '../../request/context.ts'
import { addPolicies, type DataPolicy } from '../../request/data-policy.ts'
import { TAG_NAME_PATTERN } from '../../types/records/tag-fields.ts'

/** Adds the data policy from the `x-signalbox-require` header, if the request has one. Throws `INVALID_REQUEST` if it is malformed. */
export function addRequiredTags(header: string | undefined, log: RequestSettingsSource['log']): void {
  if (header === undefined) return
  const policies = header.split(',').map((part): DataPolicy => {
    const [, name = '', value = 'true'] = /^([^=]*)(?:=(.*))?$/s.exec(part.trim()) ?? []
    if (!TAG_NAME_PATTERN.test(name) || !isTagValue(value))
      throw gatewayError('INVALID_REQUEST', { message: MALFORMED_MESSAGE })
    return { tags: { [name]: value }, source: 'the header "x-signalbox-require"' }
  })
  addPolicies(policies, log)
}

const MALFORMED_MESSAGE =
  'x-signalbox-require: write names of tags, or names with values, separated by commas, such as "zdr, region=eu, training=false".'
