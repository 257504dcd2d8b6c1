import * as v from 'valibot'
import type { JsonObject } from '../../lib/json.ts'
import { createJsonSchemaConverter } from '../../lib/json-schema.ts'
import type { OpenApiDocument } from '../../management/operations.ts'
import { describeFields } from './field-words.ts'
import { type ManagementRoute, managementPaths, managementSchemaNames } from './management-paths.ts'
import { answerHeaders, clientParameters, clientSecuritySchemes, type ModelSurface, modelPaths } from './model-paths.ts'
import { modelSchemaNames } from './model-schemas.ts'
import { createBuilder, jsonContent, type Paths } from './parts.ts'
import { tagWords } from './words.ts'

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
  const { convert, definitions } = createJsonSchemaConverter(names, '#/components/schemas/')
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
      summary: 'Say whether the gateway can serve',
      security: [],
      responses: {
        200: { description: 'It can.', content },
        ...builder.errors([400], 'Error', { $ref: '#/components/schemas/Error' }),
        503: { description: 'It shuts down, or cannot read its storage.', content },
      },
    }
  }

  return structuredClone({
    openapi: '3.1.0',
    info: { title: 'Signalbox', version, description: DESCRIPTION },
    servers: [{ url: basePath || '/' }],
    tags: Object.entries(tagWords)
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
            description: 'The admin token, or the credential that the host requires in its place.',
          },
        }),
        ...clientSecuritySchemes,
      },
    },
  })
}

const DESCRIPTION = `A model-routing gateway. \`/api\` manages it, \`/v1\` and \`/v1beta\` take requests to models in the formats of their vendors.

Under \`/api\` bodies are JSON, unknown members are refused, and errors are \`{ "error": "…" }\` with a text that says what to do. Answers may get more members in later versions. Every path that has \`GET\` answers \`HEAD\`, and every path answers \`OPTIONS\` with the methods it has.`
