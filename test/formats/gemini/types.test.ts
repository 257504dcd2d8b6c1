import type * as google from '@google/genai'
import type {
  WireAnswer,
  WireCallingConfig,
  WireCandidate,
  WireConfig,
  WireContent,
  WireDeclaration,
  WireFinish,
  WireGrounding,
  WireLogprobs,
  WirePart,
  WireTool,
  WireUsage,
} from '../../../src/formats/gemini/wire.ts'
import { assert, suite } from '../../support/suite.ts'

/** Compiles only if what the writers of this format produce is what Google's own client takes. */
type Fits<_Ours extends Theirs, Theirs> = true

/** With the texts of its enums, which is what JSON has. */
type Plain<T> = T extends string
  ? `${T}`
  : T extends (infer Element)[]
    ? Plain<Element>[]
    : T extends object
      ? { [Name in keyof T]: Plain<T[Name]> }
      : T

/** The schemas of clients go through as they are. */
type WithoutSchema<T> = Omit<T, 'parameters' | 'response' | 'responseSchema'>

/** Fields of the class, not its getters. */
type Answer = Pick<
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
  Fits<WireAnswer, Plain<Answer>>,
] = [true, true, true, true, true, true, true, true, true, true, true, true]

const test = suite('the types of Gemini')

test("the types of Gemini are those of Google's own client", () => assert.ok(fits.every(Boolean)))
