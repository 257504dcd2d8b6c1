import type { JsonObject } from '../lib/json.ts'

/** An OpenAPI 3.1 document; its schemas are JSON Schema 2020-12. */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string }
  /** The base path. */
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  /** Operations by path and lowercase method. */
  paths: Record<string, Record<string, JsonObject>>
  /** Reusable components by type, such as `schemas`, and name. */
  components: Record<string, Record<string, JsonObject>>
}
