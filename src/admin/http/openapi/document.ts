import * as v from 'valibot'
import type { JsonObject } from '../../../lib/json.ts'
import { createJsonSchemaConverter } from '../../../lib/json-schema.ts'
import type { OpenApiDocument } from '../../openapi-document.ts'
import { createBuilder, jsonContent, type Paths } from './document-parts.ts'
import { errorRows } from './error-codes.ts'
import { describeFields } from './field-words.ts'
import { type ManagementRoute, managementPaths, managementSchemaNames } from './management-paths.ts'
import { answerHeaders, clientParameters, clientSecuritySchemes, type ModelSurface, modelPaths } from './model-paths.ts'
import { modelSchemaNames } from './model-schemas.ts'
import { tagWords } from './operation-words.ts'

/** The parts of the description that differ between gateways. */
interface Described {
  /** The routes of the management API, each with its operations. */
  routes: readonly ManagementRoute[]
  models: ModelSurface
  version: string
  basePath: string
  /** Is `/api` served without a credential? */
  isOpen: boolean
}

const healthStatus = v.object({ status: v.picklist(['ok', 'closing', 'store unreadable']), version: v.string() })

/** Describes all that a gateway serves: `/api`, `/v1`, `/v1beta` and `/health`. Each call makes a new object. */
export function describeGateway({ routes, models, version, basePath, isOpen }: Described): OpenApiDocument {
  const names = new Map([
    ...managementSchemaNames(routes.flat()),
    ...modelSchemaNames(),
    [healthStatus, 'HealthStatus'] as const,
  ])
  const findName = (schema: object) =>
    names.get(schema) ?? ('schemaName' in schema ? String(schema.schemaName) : undefined)
  const { convert, definitions } = createJsonSchemaConverter({ get: findName }, '#/components/schemas/')
  const responses: Record<string, JsonObject> = {}
  const builder = createBuilder({ convert }, responses)
  const managed = managementPaths(routes, builder, isOpen ? [] : [{ managementToken: [] }])
  const paths: Paths = { ...managed, ...modelPaths(models, builder), '/health': { get: healthCheck() } }
  describeFields(definitions)
  const used = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)))

  function healthCheck() {
    const content = jsonContent(convert(healthStatus))
    return {
      operationId: 'healthCheck',
      tags: ['gateway'],
      summary: 'Check whether the gateway can serve requests',
      security: [],
      responses: {
        200: { description: 'The gateway can serve requests.', content },
        ...builder.errors([400], 'Error', { $ref: '#/components/schemas/Error' }),
        503: { description: 'The gateway is shutting down or cannot read its storage.', content },
      },
    }
  }

  return structuredClone({
    openapi: '3.1.0',
    info: { title: 'Signalbox', version, description: DESCRIPTION + errorRows().join('\n') },
    servers: [{ url: basePath || '/' }],
    tags: Object.entries({ ...tagWords, ...describeNewTags(used), ...tagWords })
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: definitions,
      responses,
      parameters: clientParameters,
      headers: answerHeaders,
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

/** Tags for the resources that features add. */
const describeNewTags = (used: Iterable<unknown>) =>
  Object.fromEntries(Array.from(used, (name) => [String(name), `Operations of the resource "${name}".`]))

const DESCRIPTION = `An LLM gateway. \`/api\` is the management API. \`/v1\` and \`/v1beta\` accept model requests in the providers' formats.

Under \`/api\`, bodies are JSON, unknown fields are rejected, and errors are \`{ "error": "…" }\` with a message that says what to do. Later versions may add fields to responses. Every \`GET\` path also supports \`HEAD\`, and every path responds to \`OPTIONS\` with its methods.

## Error codes

OpenAI clients get these codes in lowercase as \`error.code\`. Clients of other formats get the codes for limits and permissions.

| Code | Status | Cause | Fix |
| --- | --- | --- | --- |
`
