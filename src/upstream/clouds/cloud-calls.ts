import { gatewayError } from '../../errors.ts'
import { assertNever } from '../../lib/assert-never.ts'
import { targetName } from '../../providers/target.ts'
import type { Clock } from '../../types.ts'
import type { CloudCall } from '../request.ts'
import { azureCall } from './azure.ts'
import { bedrockCall } from './bedrock.ts'
import { cloudRules } from './cloud-rules.ts'
import { createGoogleTokens } from './google-tokens.ts'
import { vertexCall } from './vertex.ts'

/** Makes the calls to targets in clouds; keeps their access tokens. */
export function createCloudCalls(clock: Clock): CloudCall {
  const tokens = createGoogleTokens(clock)

  return async (request, { cloud, target, apiKey, fetch }) => {
    const data = target.connection.providerSpecificData ?? {}
    const { settingsProblem, credentialProblem } = cloudRules[cloud]
    if (apiKey === undefined) throw unusable('It has no credential: set "apiKey".')
    const problem = settingsProblem(data, apiKey) ?? credentialProblem(apiKey)
    if (problem !== undefined) throw unusable(problem)
    switch (cloud) {
      case 'azure':
        return azureCall(request, { target, data, apiKey })
      case 'bedrock':
        return bedrockCall(request, { data, apiKey, now: clock.now() })
      case 'vertex':
        return vertexCall(request, { target, data, apiKey, tokens, fetch })
      default:
        return assertNever(cloud)
    }

    function unusable(problem: string) {
      return gatewayError('UPSTREAM_CREDENTIALS', {
        message: `The connection to ${targetName(target)} cannot be used. ${problem}`,
      })
    }
  }
}
