//! The attributes of structs and fields.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, ExprLit, ExprRange, Lit, LitStr, Path, Result, Token};

/// The attribute `#[section(…)]` of a struct.
#[derive(Default)]
pub struct SectionAttributes {
    /// The name of the section; none for a group of fields.
    pub name: Option<LitStr>,
    /// It may stand more than once.
    pub repeated: bool,
    /// Checks how the fields fit together.
    pub check: Option<Path>,
}

impl SectionAttributes {
    pub fn read(attributes: &[Attribute]) -> Result<SectionAttributes> {
        let mut read = SectionAttributes::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("section")) {
            attribute.parse_nested_meta(|meta| read.add(&meta))?;
        }
        Ok(read)
    }

    fn add(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match word(meta).as_str() {
            "name" => self.name = Some(meta.value()?.parse()?),
            "repeated" => self.repeated = true,
            "check" => self.check = Some(meta.value()?.parse()?),
            _ => return Err(meta.error("valid are `name`, `repeated`, `check`")),
        }
        Ok(())
    }
}

/// The default of a field.
pub enum Fallback {
    /// As it would stand in the file.
    Literal(String),
    /// A constant.
    Constant(Expr),
}

/// The attribute `#[field(…)]` of a field.
#[derive(Default)]
pub struct FieldAttributes {
    /// Its name in the file.
    pub name: Option<String>,
    /// Its default.
    pub default: Option<Fallback>,
    /// It has the default of its type.
    pub has_default: bool,
    /// It must be given, though its type is an `Option`.
    pub required: bool,
    /// The form that the manual shows.
    pub form: Option<TokenStream>,
    /// It is a whole number, and the form has its range.
    pub is_number: bool,
    /// Reads the value.
    pub with: Option<Path>,
    /// Reads the field.
    pub by: Option<Path>,
    /// Its fields are those of the section.
    pub flatten: bool,
    /// It is no field of the file.
    pub skip: bool,
    /// It is a field of the file that the reader leaves alone.
    pub elsewhere: bool,
}

impl FieldAttributes {
    pub fn read(attributes: &[Attribute]) -> Result<FieldAttributes> {
        let mut read = FieldAttributes::default();
        for attribute in attributes {
            if attribute.path().is_ident("field") {
                attribute.parse_nested_meta(|meta| read.add(&meta))?;
            } else if attribute.path().is_ident("serde") {
                attribute.parse_nested_meta(|meta| read.add_serde(&meta))?;
            }
        }
        Ok(read)
    }

    /// The default as it would stand in the file; empty if there is none.
    pub fn default_text(&self) -> TokenStream {
        match &self.default {
            None => quote!(""),
            Some(Fallback::Literal(text)) => quote!(#text),
            Some(Fallback::Constant(number)) if self.is_number => {
                quote!(::document::digits!(#number))
            }
            Some(Fallback::Constant(text)) => quote!(::document::quoted!(#text)),
        }
    }

    fn add(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match word(meta).as_str() {
            "name" => self.name = Some(meta.value()?.parse::<LitStr>()?.value()),
            "default" if meta.input.peek(Token![=]) => {
                self.default = Some(match meta.value()?.parse()? {
                    constant @ (Expr::Path(_) | Expr::Field(_)) => Fallback::Constant(constant),
                    value => Fallback::Literal(toml(&value)?),
                });
            }
            "default" => self.has_default = true,
            "range" => {
                let range: ExprRange = meta.value()?.parse()?;
                let high = range.end.map_or(quote!(i64::MAX), ToTokens::into_token_stream);
                let low = range.start;
                self.form = Some(quote!(::document::schema::Form::Number(#low, #high)));
                self.is_number = true;
            }
            "form" => {
                self.form = Some(match meta.value()?.parse()? {
                    Expr::Lit(words) => quote!(::document::schema::Form::As(#words)),
                    form => form.into_token_stream(),
                });
            }
            "part" => {
                let part: LitStr = meta.value()?.parse()?;
                self.form = Some(quote!(::document::schema::Form::Part(#part)));
            }
            "with" => self.with = Some(meta.value()?.parse()?),
            "by" => self.by = Some(meta.value()?.parse()?),
            "required" => self.required = true,
            "flatten" => self.flatten = true,
            "skip" => self.skip = true,
            "elsewhere" => self.elsewhere = true,
            _ => {
                return Err(
                    meta.error("the documentation of `document_derive` lists what is valid")
                );
            }
        }
        Ok(())
    }

    /// A struct that serde reads says the same to both.
    fn add_serde(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match word(meta).as_str() {
            "default" => self.has_default = true,
            "rename" => self.name = Some(meta.value()?.parse::<LitStr>()?.value()),
            "flatten" => self.flatten = true,
            _ => return Err(meta.error("`document::Fields` does not know it")),
        }
        Ok(())
    }
}

fn word(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

/// A value as it would stand in the file.
fn toml(value: &Expr) -> Result<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(format!("\"{}\"", text.value())),
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Ok(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => Ok(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Bool(switch), .. }) => Ok(switch.value.to_string()),
        Expr::Array(list) => {
            let values = list.elems.iter().map(toml).collect::<Result<Vec<_>>>()?;
            Ok(format!("[{}]", values.join(", ")))
        }
        other => Err(Error::new_spanned(other, "write a literal, a list of them, or a constant")),
    }
}

/// The first paragraph of a documentation.
pub fn documentation(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("doc")) {
        let Ok(pair) = attribute.meta.require_name_value() else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { continue };
        let line = text.value().trim().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    lines.join(" ")
}
