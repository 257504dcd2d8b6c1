import type * as google from '@google/genai'
import type {
  WireCallingConfig,
  WireCandidate,
  WireConfig,
  WireContent,
  WireDeclaration,
  WireFinish,
  WireGrounding,
  WireLogprobs,
  WirePart,
  WireResponse,
  WireTool,
  WireUsage,
} from '../../../src/protocols/formats/gemini/gemini-wire.ts'
import { assert, suite } from '../../support/suite.ts'

/** Compiles only if Google's client accepts everything that the writers of this format produce. */
type Fits<_Ours extends Theirs, Theirs> = true

/** Replaces enums with their string values, as in JSON. */
type Plain<T> = T extends string
  ? `${T}`
  : T extends (infer Element)[]
    ? Plain<Element>[]
    : T extends object
      ? { [Name in keyof T]: Plain<T[Name]> }
      : T

/** Client schemas are passed through unchanged. */
type WithoutSchema<T> = Omit<T, 'parameters' | 'response' | 'responseSchema'>

/** The class's fields without its getters. */
type Reply = Pick<
  google.GenerateContentResponse,
  'candidates' | 'modelVersion' | 'promptFeedback' | 'responseId' | 'usageMetadata'
>

const fits: [
  Fits<WirePart, Plain<google.Part>>,
  Fits<WireContent, Plain<google.Content>>,
  Fits<WireTool, Plain<google.Tool>>,
  Fits<WithoutSchema<WireDeclaration>, Plain<google.FunctionDeclaration>>,
  Fits<WireCallingConfig, Plain<google.FunctionCallingConfig>>,
  Fits<WithoutSchema<WireConfig>, Plain<google.GenerationConfig>>,
  Fits<WireFinish, `${google.FinishReason}`>,
  Fits<WireUsage, Plain<google.GenerateContentResponseUsageMetadata>>,
  Fits<WireGrounding, Plain<google.GroundingMetadata>>,
  Fits<WireLogprobs, Plain<google.LogprobsResult>>,
  Fits<WireCandidate, Plain<google.Candidate>>,
  Fits<WireResponse, Plain<Reply>>,
] = [true, true, true, true, true, true, true, true, true, true, true, true]

const test = suite('Gemini types')

test("the Gemini types match Google's client library", () => assert.ok(fits.every(Boolean)))
