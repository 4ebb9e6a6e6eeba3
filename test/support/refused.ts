/**
 * Matches an `InvalidOptionsError` with one fault per given field, in this order. It is for specs of callers: the sentence
 * itself is asserted where it is made.
 */
export function refused(...fields: string[]) {
  const faults = fields.map((field) => expect.stringMatching(new RegExp(`^${field.replace(/[.[\]]/g, '\\$&')}: `)));
  return expect.objectContaining({ code: 'invalid-options', faults });
}

/** The same, where each fault names a value that is no field: one value per fault, in this order. */
export function refusedNaming(...values: (string | RegExp)[]) {
  const faults = values.map((value) =>
    typeof value === 'string' ? expect.stringContaining(value) : expect.stringMatching(value),
  );
  return expect.objectContaining({ code: 'invalid-options', faults });
}
