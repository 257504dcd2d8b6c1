import { gatewayError } from '../../errors.ts'
import type { UpstreamCall } from '../../lib/exchange.ts'
import { targetName } from '../../providers/target.ts'
import type { Clock } from '../../types.ts'
import type { CloudTarget } from '../cloud-call.ts'
import type { Ask } from '../request.ts'
import { azureCall } from './azure.ts'
import { bedrockCall } from './bedrock.ts'
import { cloudRules } from './known.ts'

/** The call to a target in a cloud. Throws `UPSTREAM_CREDENTIALS` when the connection's settings or its credential do not do. */
export async function cloudCall(ask: Ask, to: CloudTarget, clock: Clock): Promise<UpstreamCall> {
  const { cloud, target, apiKey } = to
  const data = target.connection.providerSpecificData ?? {}
  const rules = cloudRules[cloud]
  const problem = rules.settingsProblem(data, apiKey) ?? credentialProblem()
  if (problem !== undefined || apiKey === undefined) {
    throw gatewayError('UPSTREAM_CREDENTIALS', {
      message: `The connection to ${targetName(target)} cannot be used. ${problem}`,
    })
  }
  switch (cloud) {
    case 'azure':
      return azureCall(ask, { target, data, apiKey })
    case 'bedrock':
      return bedrockCall(ask, { data, apiKey, now: clock.now() })
  }

  function credentialProblem() {
    return apiKey === undefined ? 'It has no credential: set "apiKey".' : rules.credentialProblem(apiKey)
  }
}
