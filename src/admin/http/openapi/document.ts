import type { BuiltInFeature } from '../../../feature.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { createJsonSchemaConverter } from '../../../lib/json-schema.ts'
import { getEntry } from '../../../lib/maps.ts'
import { comboModelSchema } from '../../combo-entry.ts'
import type { OpenApiDocument } from '../../openapi-document.ts'
import { createBuilder, createJsonContent, type Paths } from './document-parts.ts'
import { formatErrorRows } from './error-codes.ts'
import { describeFields } from './field-words.ts'
import { describeManagementPaths, type ManagementRoute, managementTypes, nameInputs } from './management-paths.ts'
import { clientParameters, clientSecuritySchemes, describeModelPaths, responseHeaders } from './model-paths.ts'
import { modelTypes } from './model-types.ts'
import { tagDescriptions } from './operation-words.ts'
import { convertType } from './type-text.ts'

/** The parts of the description that differ between gateways. */
interface DocumentParts {
  /** The management API's routes, each with its operations. */
  routes: readonly ManagementRoute[]
  /** The features whose routes are described. */
  features: readonly BuiltInFeature[]
  version: string
  basePath: string
  /** The result types of all operations, as in result-types.data.ts. */
  resultTypes: string
  /** Whether `/api` is served without a credential. */
  isOpen: boolean
}

const gatewayTypes = { HealthStatus: "{status: 'ok' | 'closing' | 'store unreadable', version: string}" }

/** Describes everything that a gateway serves: `/api`, `/v1`, `/v1beta`, and `/health`. Each call creates a new object. */
export function describeGateway({
  routes,
  features,
  version,
  basePath,
  resultTypes,
  isOpen,
}: DocumentParts): OpenApiDocument {
  const inputNames = nameInputs(routes.flat())
  const findName = (schema: object) =>
    inputNames.get(schema) ?? (schema === comboModelSchema ? 'ComboModel' : undefined)
  const { convert, definitions } = createJsonSchemaConverter({ get: findName }, '#/components/schemas/')
  const typesByName = new Map([
    ...resultTypes.split('\n').map((line) => line.split(' = ', 2) as [string, string]),
    ...Object.entries({ ...gatewayTypes, ...managementTypes, ...modelTypes }),
  ])

  function createReference(name: string): JsonObject {
    if (name === 'ComboModel') return convert(comboModelSchema)
    const typeText = typesByName.get(name)
    if (typeText === undefined) throw new TypeError(`${name} has no type. Run: npm run generate`)
    if (!Object.hasOwn(definitions, name)) {
      definitions[name] = {} // a type may contain itself
      definitions[name] = describeType(typeText)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  const describeType = (text: string) => convertType(text, createReference)
  const describeResult = (operation: string) => describeType(typesByName.get(operation) ?? operation)
  const responses: Record<string, JsonObject> = {}
  const builder = createBuilder({ convertSchema: convert, describeType, describeResult }, responses)
  const managementPaths = describeManagementPaths(routes, builder, isOpen ? [] : [{ managementToken: [] }])
  const paths: Paths = {
    ...managementPaths,
    ...describeModelPaths(features, builder),
    '/health': { get: describeHealthCheck() },
  }
  describeFields(definitions, routes.flat())
  const usedTypes = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags as string[])),
  )

  function describeHealthCheck() {
    const content = createJsonContent(createReference('HealthStatus'))
    return {
      operationId: 'healthCheck',
      tags: ['gateway'],
      summary: 'Check whether the gateway can serve requests',
      security: [],
      responses: {
        200: { description: 'The gateway can serve requests.', content },
        ...builder.describeErrors([400], 'Error', createReference('Error')),
        503: { description: 'The gateway is shutting down or cannot read its storage.', content },
      },
    }
  }

  return structuredClone({
    openapi: '3.1.0',
    info: { title: 'Signalbox', version, description: DESCRIPTION + formatErrorRows().join('\n') },
    servers: [{ url: basePath || '/' }],
    tags: [...new Set([...Object.keys(tagDescriptions), ...usedTypes])]
      .filter((name) => usedTypes.has(name))
      .map((name) => ({ name, description: getEntry(tagDescriptions, name) ?? 'Added by a feature.' })),
    paths,
    components: {
      schemas: definitions,
      responses,
      parameters: clientParameters,
      headers: responseHeaders,
      securitySchemes: {
        ...(!isOpen && {
          managementToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'The admin token, or the credential that your app requires instead.',
          },
        }),
        ...clientSecuritySchemes,
      },
    },
  })
}

const DESCRIPTION = `An LLM gateway. \`/api\` is the management API. \`/v1\` and \`/v1beta\` accept model requests in the providers' formats.

Under \`/api\`, bodies are JSON, unknown fields are rejected, and errors are \`{ "error": "…" }\` with a message that says what to do. Later versions may add fields to responses. Every \`GET\` path also supports \`HEAD\`, and every path responds to \`OPTIONS\` with its methods.

## Error codes

OpenAI clients get these codes in lowercase as \`error.code\`. Clients of other formats get the codes for limits and permissions.

| Code | Status | Cause | Fix |
| --- | --- | --- | --- |
`
