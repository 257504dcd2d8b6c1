import { gatewayError } from '../../../errors.ts'
import { assertNever } from '../../../lib/assert-never.ts'
import { getTargetName } from '../../../protocols/providers/target.ts'
import type { Clock } from '../../../types.ts'
import type { CloudCall } from '../upstream-request.ts'
import { createAzureCall } from './azure.ts'
import { createBedrockCall } from './bedrock-calls.ts'
import { cloudRules } from './cloud-rules.ts'
import { createGoogleTokens } from './google-tokens.ts'
import { createVertexCall } from './vertex-calls.ts'

/** Creates calls to targets in clouds. Caches their access tokens. */
export function createCloudCalls(clock: Clock): CloudCall {
  const getToken = createGoogleTokens(clock)

  return async (request, { cloud, target, apiKey, fetch }) => {
    const data = target.connection.providerSpecificData ?? {}
    const { findSettingsProblem, findCredentialProblem } = cloudRules[cloud]
    if (apiKey === undefined) throw createSetupError('It has no credential. Set "apiKey".')
    const problem = findSettingsProblem(data, apiKey) ?? findCredentialProblem(apiKey)
    if (problem !== undefined) throw createSetupError(problem)
    switch (cloud) {
      case 'azure':
        return createAzureCall(request, { target, data, apiKey })
      case 'bedrock':
        return createBedrockCall(request, { data, apiKey, now: clock.now() })
      case 'vertex':
        return createVertexCall(request, { target, data, apiKey, getToken, fetch })
      default:
        return assertNever(cloud)
    }

    function createSetupError(problem: string) {
      return gatewayError('UPSTREAM_CREDENTIALS', {
        message: `The connection to ${getTargetName(target)} is not set up correctly. ${problem}`,
      })
    }
  }
}
