struct dsc$descriptor_s {
    unsigned short dsc$w_length;
    unsigned char dsc$b_dtype, dsc$b_class;
    char *dsc$a_pointer;
};
#define DSC$K_DTYPE_T 14
#define DSC$K_CLASS_S 1
